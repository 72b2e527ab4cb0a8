/* The version of tilesim, of its command line and of its library. */
#ifndef TILESIM_BASE_VERSION_H
#define TILESIM_BASE_VERSION_H

#define TS_VERSION "0.1.0"

#endif

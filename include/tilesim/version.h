/* The version of the library, and how it exports functions. */
#ifndef TILESIM_VERSION_H
#define TILESIM_VERSION_H

#define TS_VERSION "0.1.0"

/* What the shared library exports: all that is declared here, and nothing else. */
#if defined(__GNUC__)
#define TS_API      __attribute__((visibility("default")))
#define TS_NORETURN __attribute__((noreturn))
#else
#define TS_API
#define TS_NORETURN
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* TS_VERSION of the library that is linked, which may be newer than the header. */
TS_API const char *ts_version(void);

#ifdef __cplusplus
}
#endif

#endif

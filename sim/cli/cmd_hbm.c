/* tilesim hbm: a stream of requests through the HBM of a machine. */

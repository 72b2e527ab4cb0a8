/* oneDNN's reorder of a matrix, where configure.py found oneDNN 2. */
#ifndef TESTS_BENCH_PEER_DNNL_H
#define TESTS_BENCH_PEER_DNNL_H

/* Its speed as a ratio to memcpy, of the thread that calls (OMP_NUM_THREADS=1); 0 where oneDNN is missing or
 * does not know the types or layouts: matrices with {1,0}, {0,1}, T(8,128), T(8,128)(2,1) and T(8,128)(4,1).
 */
double peer_dnnl_ratio(const char *src, const char *dst);

#endif

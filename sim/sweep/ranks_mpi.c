/* What of MPI a sweep needs: messages of bytes. Built by mpicc into a file of its own, tilesim-mpi.so. */
#include <limits.h>
#include <mpi.h>
#include <stdlib.h>
#include <time.h>

#include "sweep/crew.h"

enum { TAG = 1, SHORT_NS = 20000, LONG_NS = 1000000 };

static void *received; /* the last message */

static bool send_bytes(int to, const void *bytes, size_t length) {
    return length <= INT_MAX &&
           MPI_Send(bytes, (int)length, MPI_BYTE, to, TAG, MPI_COMM_WORLD) == MPI_SUCCESS;
}

/* MPI waits with a core at full load, which those who answer need: this looks now and then. */
static bool wait_for_message(MPI_Status *status) {
    struct timespec pause = {.tv_nsec = SHORT_NS};
    for (int there = 0;;) {
        if (MPI_Iprobe(MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD, &there, status) != MPI_SUCCESS) return false;
        if (there) return true;
        nanosleep(&pause, NULL);
        if (pause.tv_nsec < LONG_NS) pause.tv_nsec += pause.tv_nsec / 4;
    }
}

static bool receive_bytes(int *from, const void **bytes, size_t *length) {
    MPI_Status status;
    int count;
    if (!wait_for_message(&status) || MPI_Get_count(&status, MPI_BYTE, &count) != MPI_SUCCESS) return false;
    free(received);
    received = malloc((size_t)count + 1);
    if (!received) return false;
    *from = status.MPI_SOURCE;
    *bytes = received;
    *length = (size_t)count;
    return MPI_Recv(received, count, MPI_BYTE, *from, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE) == MPI_SUCCESS;
}

static void finish(bool good) {
    if (!good) MPI_Abort(MPI_COMM_WORLD, 1);
    MPI_Finalize();
    free(received);
}

__attribute__((visibility("default"))) bool tilesim_ranks_begin(ts_sweep_ranks *ranks);
bool tilesim_ranks_begin(ts_sweep_ranks *ranks) {
    *ranks = (ts_sweep_ranks){.send = send_bytes, .receive = receive_bytes, .finish = finish};
    return MPI_Init(NULL, NULL) == MPI_SUCCESS &&
           MPI_Comm_rank(MPI_COMM_WORLD, &ranks->rank) == MPI_SUCCESS &&
           MPI_Comm_size(MPI_COMM_WORLD, &ranks->size) == MPI_SUCCESS;
}

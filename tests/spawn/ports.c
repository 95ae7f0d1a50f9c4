/* SPDX-License-Identifier: BSD-3-Clause */
/* Ports, names of services and MPI_Comm_join, between processes of one job and between jobs. */
#include "tests/spawn/family.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

static int rank, size;

/* A message each way between the leaders, and a reduction. */
static void check_pair(MPI_Comm inter, int remote) {
    int count = 0, mine = rank, theirs = -1, local = 0;
    CHECK_OK(MPI_Comm_remote_size(inter, &count));
    CHECK_EQUAL(count, remote);
    CHECK_OK(MPI_Comm_rank(inter, &local));
    if (local == 0) {
        CHECK_OK(MPI_Sendrecv(&mine, 1, MPI_INT, 0, 3, &theirs, 1, MPI_INT, 0, 3, inter, MPI_STATUS_IGNORE));
        CHECK(theirs >= 0);
    }
    mine = 1;
    CHECK_OK(MPI_Allreduce(&mine, &theirs, 1, MPI_INT, MPI_SUM, inter));
    CHECK_EQUAL(theirs, remote);
}

/* The two halves of the world, again and again at one port; a name of a service tells where it is. */
static void check_halves(void) {
    const int serves = rank < size / 2;
    char port[MPI_MAX_PORT_NAME] = "";
    MPI_Comm half = MPI_COMM_NULL;
    CHECK_OK(MPI_Comm_split(MPI_COMM_WORLD, serves, 0, &half));
    if (rank == 0) {
        CHECK_OK(MPI_Open_port(MPI_INFO_NULL, port));
        CHECK(strlen(port) > 0 && strlen(port) < MPI_MAX_PORT_NAME);
        CHECK_OK(MPI_Publish_name("halves", MPI_INFO_NULL, port));
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == size / 2) {
        CHECK_OK(MPI_Lookup_name("halves", MPI_INFO_NULL, port));
    }
    for (int round = 0; round < 3; ++round) {
        MPI_Comm inter = MPI_COMM_NULL;
        if (serves) {
            CHECK_OK(MPI_Comm_accept(port, MPI_INFO_NULL, 0, half, &inter));
        } else {
            CHECK_OK(MPI_Comm_connect(port, MPI_INFO_NULL, 0, half, &inter));
        }
        check_pair(inter, serves ? size - size / 2 : size / 2);
        CHECK_OK(MPI_Comm_disconnect(&inter));
    }
    if (rank == 0) {
        CHECK_OK(MPI_Unpublish_name("halves", MPI_INFO_NULL, port));
        CHECK_OK(MPI_Close_port(port));
    }
    MPI_Comm_free(&half);
}

/* All others connect to rank 0 at once, which accepts one after the other. */
static void check_clients(void) {
    char port[MPI_MAX_PORT_NAME] = "";
    MPI_Comm inter = MPI_COMM_NULL;
    if (rank == 0) {
        CHECK_OK(MPI_Open_port(MPI_INFO_NULL, port));
    }
    MPI_Bcast(port, MPI_MAX_PORT_NAME, MPI_CHAR, 0, MPI_COMM_WORLD);
    if (rank > 0) {
        CHECK_OK(MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter));
        check_pair(inter, 1);
        CHECK_OK(MPI_Comm_disconnect(&inter));
    }
    for (int client = 1; rank == 0 && client < size; ++client) {
        CHECK_OK(MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter));
        check_pair(inter, 1);
        CHECK_OK(MPI_Comm_disconnect(&inter));
    }
    if (rank == 0) {
        CHECK_OK(MPI_Close_port(port));
    }
}

/* A port that is closed while a process waits at it. */
static void check_closed(void) {
    char port[MPI_MAX_PORT_NAME] = "";
    MPI_Comm inter = MPI_COMM_WORLD;
    if (rank == 0) {
        CHECK_OK(MPI_Open_port(MPI_INFO_NULL, port));
    }
    MPI_Bcast(port, MPI_MAX_PORT_NAME, MPI_CHAR, 0, MPI_COMM_WORLD);
    if (rank == 0) {
        usleep(50000);
        CHECK_OK(MPI_Close_port(port));
    } else if (rank == 1) {
        CHECK_CLASS(MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter), MPI_ERR_PORT);
        CHECK(inter == MPI_COMM_NULL);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Rank 0 waits for a connection on a port of TCP, to which rank 1 connects. */
static void check_join(void) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof address;
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    if (rank == 0) {
        CHECK(bind(fd, (struct sockaddr*)&address, sizeof address) == 0 && listen(fd, 1) == 0);
        CHECK(getsockname(fd, (struct sockaddr*)&address, &length) == 0);
        MPI_Send(&address.sin_port, 2, MPI_BYTE, 1, 5, MPI_COMM_WORLD);
        const int listening = fd;
        fd = accept(listening, NULL, NULL);
        close(listening);
    } else if (rank == 1) {
        MPI_Recv(&address.sin_port, 2, MPI_BYTE, 0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        CHECK(connect(fd, (struct sockaddr*)&address, sizeof address) == 0);
    }
    for (int round = 0; rank < 2 && round < 2; ++round) {
        MPI_Comm inter = MPI_COMM_NULL;
        char byte = 'x';
        CHECK_OK(MPI_Comm_join(fd, &inter));
        check_pair(inter, 1);
        CHECK_OK(MPI_Comm_disconnect(&inter));
        CHECK(write(fd, &byte, 1) == 1 && read(fd, &byte, 1) == 1 && byte == 'x'); /* no byte is left over */
    }
    close(fd);
}

static void check_join_errors(void) {
    int ends[2];
    MPI_Comm inter = MPI_COMM_WORLD;
    CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
    CHECK(write(ends[1], "GET / HTTP/1.0\r\n\r\n", 18) == 18);
    CHECK_CLASS(MPI_Comm_join(ends[0], &inter), MPI_ERR_OTHER);
    CHECK(inter == MPI_COMM_NULL);
    close(ends[0]);
    close(ends[1]);
    CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
    close(ends[1]);
    CHECK(MPI_Comm_join(ends[0], &inter) != MPI_SUCCESS);
    close(ends[0]);
    CHECK_CLASS(MPI_Comm_join(ends[0], &inter), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Comm_join(-1, &inter), MPI_ERR_ARG);
}

static void check_errors(void) {
    char port[MPI_MAX_PORT_NAME] = "", name[64];
    MPI_Comm inter = MPI_COMM_WORLD;
    MPI_Info info;
    CHECK_CLASS(MPI_Comm_connect("no port", MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter), MPI_ERR_PORT);
    CHECK(inter == MPI_COMM_NULL);
    CHECK_CLASS(MPI_Comm_connect("", MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter), MPI_ERR_PORT);
    CHECK_CLASS(MPI_Comm_accept("patchbay-port:0", MPI_INFO_NULL, size - 1, MPI_COMM_WORLD, &inter), MPI_ERR_PORT);
    CHECK_CLASS(MPI_Comm_accept(port, MPI_INFO_NULL, size, MPI_COMM_WORLD, &inter), MPI_ERR_ROOT);
    CHECK_CLASS(MPI_Comm_accept(NULL, MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Close_port("no port"), MPI_ERR_PORT);
    CHECK_OK(MPI_Open_port(MPI_INFO_NULL, port));
    MPI_Info_create(&info);
    MPI_Info_set(info, "timeout", "1"); /* no process accepts */
    CHECK_CLASS(MPI_Comm_connect(port, info, 0, MPI_COMM_SELF, &inter), MPI_ERR_PORT);
    MPI_Info_set(info, "timeout", "soon");
    CHECK_CLASS(MPI_Comm_connect(port, info, 0, MPI_COMM_SELF, &inter), MPI_ERR_INFO_VALUE);
    MPI_Info_free(&info);
    CHECK_OK(MPI_Close_port(port));
    CHECK_CLASS(MPI_Close_port(port), MPI_ERR_PORT);
    CHECK_CLASS(MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter), MPI_ERR_PORT);

    snprintf(name, sizeof name, "service of %d", rank);
    CHECK_CLASS(MPI_Lookup_name(name, MPI_INFO_NULL, port), MPI_ERR_NAME);
    CHECK_CLASS(MPI_Unpublish_name(name, MPI_INFO_NULL, port), MPI_ERR_SERVICE);
    CHECK_OK(MPI_Publish_name(name, MPI_INFO_NULL, "anything"));
    CHECK_CLASS(MPI_Publish_name(name, MPI_INFO_NULL, "something"), MPI_ERR_SERVICE);
    CHECK_OK(MPI_Lookup_name(name, MPI_INFO_NULL, port));
    CHECK(strcmp(port, "anything") == 0);
    CHECK_OK(MPI_Unpublish_name(name, MPI_INFO_NULL, port));
    CHECK_CLASS(MPI_Lookup_name(name, MPI_INFO_NULL, port), MPI_ERR_NAME);
    CHECK_CLASS(MPI_Lookup_name("", MPI_INFO_NULL, port), MPI_ERR_ARG);
}

/* Two jobs that were spawned, and know nothing of each other but the name of a service. */
static int child(const char* what) {
    char port[MPI_MAX_PORT_NAME];
    MPI_Comm inter = MPI_COMM_NULL, parent = MPI_COMM_NULL;
    MPI_Comm_get_parent(&parent);
    const int serves = strcmp(what, "server") == 0;
    if (serves && rank == 0) {
        CHECK_OK(MPI_Open_port(MPI_INFO_NULL, port));
        CHECK_OK(MPI_Publish_name("children", MPI_INFO_NULL, port));
    }
    MPI_Barrier(parent); /* the clients are spawned after it */
    if (!serves && rank == 0) {
        CHECK_OK(MPI_Lookup_name("children", MPI_INFO_NULL, port));
    }
    if (serves) {
        CHECK_OK(MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter));
    } else {
        CHECK_OK(MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter));
    }
    check_pair(inter, serves ? 2 : 1);
    CHECK_OK(MPI_Comm_disconnect(&inter));
    CHECK_OK(MPI_Comm_disconnect(&parent));
    return finish();
}

static void check_jobs(void) {
    MPI_Comm servers = MPI_COMM_NULL, clients = MPI_COMM_NULL;
    char* server[] = {"server", NULL};
    char* client[] = {"client", NULL};
    CHECK_OK(MPI_Comm_spawn(self_path(), server, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &servers, MPI_ERRCODES_IGNORE));
    MPI_Barrier(servers);
    CHECK_OK(MPI_Comm_spawn(self_path(), client, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &clients, MPI_ERRCODES_IGNORE));
    MPI_Barrier(clients);
    CHECK_OK(MPI_Comm_disconnect(&servers));
    CHECK_OK(MPI_Comm_disconnect(&clients));
    /* The name is gone with the server's job. */
    char port[MPI_MAX_PORT_NAME];
    const double deadline = MPI_Wtime() + 30;
    int code = MPI_SUCCESS;
    while (code == MPI_SUCCESS && MPI_Wtime() < deadline) {
        code = MPI_Lookup_name("children", MPI_INFO_NULL, port);
    }
    CHECK_CLASS(code, MPI_ERR_NAME);
    MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char** argv) {
    CHECK_OK(MPI_Init(&argc, &argv));
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (argc > 1) {
        return child(argv[1]);
    }
    if (size > 1) {
        check_halves();
        check_clients();
        check_closed();
        check_join();
    }
    check_errors();
    check_join_errors();
    check_jobs();
    return finish();
}

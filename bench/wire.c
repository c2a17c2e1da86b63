/* A network of several machines in one: namespaces, whose packets come late.
 *
 *     wire MBIT MS NAMESPACE...
 *
 * puts a device `wire` (a TUN device: whole IP packets) into each namespace (ip netns add), with the
 * address 10.77.0.1, .2, ... in their order, and carries packets between them until it is ended. As
 * through a switch that never drops: a packet of b bytes from s to d leaves when those before it from s
 * have left, travels MS milliseconds, and comes in behind those that came to d before it,
 *
 *     leaves = max(now, leaves before) + 8 b / rate
 *     comes  = max(leaves + delay, came before + 8 b / rate).
 *
 * This kernel can limit a rate (tbf) but has no netem, so that the delay has to be made here; the rate
 * is made in the same place, by one clock. Needs root. What it sleeps too long, some 0.05 ms where it
 * may go before all others (SCHED_FIFO), comes on top. MBIT 0: as fast as it goes. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { MOST = 64, MTU = 9000 };

typedef struct packet {
    struct packet *next;
    int64_t due_ns;
    size_t length;
    unsigned char bytes[MTU];
} packet;

typedef struct port {
    int64_t left_ns, came_ns; /* when what went before has left, and has come */
    packet *first, *last;     /* on their way to this one, in the order they come */
} port;

static struct pollfd fds[MOST];
static port ports[MOST];
static int count;
static double ns_per_byte;
static int64_t delay_ns;
static packet *spare;

static void fail(const char *what, const char *name)
{
    fprintf(stderr, "wire: %s %s: %s\n", what, name, strerror(errno));
    exit(1);
}

static int64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void set_address(int device, struct ifreq *request, unsigned long what,
                        const char *address)
{
    struct sockaddr_in in = {.sin_family = AF_INET};
    inet_pton(AF_INET, address, &in.sin_addr);
    memcpy(&request->ifr_addr, &in, sizeof in);
    if (ioctl(device, what, request))
        fail("the address", address);
}

/* The device of a namespace, whose descriptor works from outside of it. */
static int open_device(const char *name, int number)
{
    char path[256], address[32];
    struct ifreq request = {0};
    snprintf(path, sizeof path, "/run/netns/%s", name);
    const int space = open(path, O_RDONLY | O_CLOEXEC);
    if (space < 0 || setns(space, CLONE_NEWNET))
        fail("the namespace", name);
    close(space);
    const int device = open("/dev/net/tun", O_RDWR | O_NONBLOCK);
    snprintf(request.ifr_name, sizeof request.ifr_name, "wire");
    request.ifr_flags = IFF_TUN | IFF_NO_PI;
    if (device < 0 || ioctl(device, TUNSETIFF, &request))
        fail("a TUN device in", name);
    const int any = socket(AF_INET, SOCK_DGRAM, 0);
    snprintf(address, sizeof address, "10.77.0.%d", number + 1);
    set_address(any, &request, SIOCSIFADDR, address);
    set_address(any, &request, SIOCSIFNETMASK, "255.255.255.0");
    request.ifr_mtu = MTU;
    if (ioctl(any, SIOCSIFMTU, &request))
        fail("the size of packets in", name);
    request.ifr_qlen =
        10000; /* waits in the sender, as behind a slow card, and is not dropped */
    if (ioctl(any, SIOCSIFTXQLEN, &request))
        fail("the queue in", name);
    request.ifr_flags = IFF_UP | IFF_RUNNING;
    if (ioctl(any, SIOCSIFFLAGS, &request))
        fail("starting the device in", name);
    close(any);
    return device;
}

/* Reads one packet and puts it on its way; 0 where there is none. */
static int take(int from)
{
    packet *p = spare ? spare : malloc(sizeof *p);
    if (!p)
        fail("memory for", "a packet");
    spare = p->next = NULL;
    const ssize_t length = read(fds[from].fd, p->bytes, MTU);
    const int to = p->bytes[19] - 1; /* the last byte of the destination */
    spare = p;
    if (length <= 0)
        return 0;
    if (length < 20 || p->bytes[0] >> 4 != 4 || to < 0 || to >= count || to == from)
        return 1; /* not IPv4, or to nobody here */
    const int64_t now = now_ns(), on_wire = (int64_t)((double)length * ns_per_byte);
    port *s = &ports[from], *d = &ports[to];
    spare = NULL;
    s->left_ns = (now > s->left_ns ? now : s->left_ns) + on_wire;
    const int64_t comes = s->left_ns + delay_ns, behind = d->came_ns + on_wire;
    d->came_ns = p->due_ns = comes > behind ? comes : behind;
    p->length = (size_t)length;
    if (d->first)
        d->last->next = p;
    else
        d->first = p;
    d->last = p;
    return 1;
}

/* Hands over what has come by now; the time of the next one, or -1. */
static int64_t give(void)
{
    int64_t next = -1;
    for (int to = 0; to < count; to++) {
        port *d = &ports[to];
        const int64_t now = now_ns();
        while (d->first && d->first->due_ns <= now) {
            packet *p = d->first;
            if (write(fds[to].fd, p->bytes, p->length) < 0 && errno != EAGAIN)
                perror("wire: a packet was lost");
            d->first = p->next;
            free(p);
        }
        if (d->first && (next < 0 || d->first->due_ns < next))
            next = d->first->due_ns;
    }
    return next;
}

int main(int argc, char **argv)
{
    const struct sched_param before_all = {.sched_priority = 10};
    if (argc < 4 || argc - 3 > MOST) {
        fputs("wire MBIT MS NAMESPACE...: at most 64 of them\n", stderr);
        return 2;
    }
    const double mbit = strtod(argv[1], NULL);
    ns_per_byte = mbit > 0 ? 8000 / mbit : 0;
    delay_ns = (int64_t)(1e6 * strtod(argv[2], NULL));
    count = argc - 3;
    for (int i = 0; i < count; i++)
        fds[i] = (struct pollfd){.fd = open_device(argv[3 + i], i), .events = POLLIN};
    if (sched_setscheduler(0, SCHED_FIFO, &before_all))
        perror("wire: goes on without SCHED_FIFO");
    puts("ready");
    fflush(stdout);
    for (;;) {
        const int64_t next = give(), wait = next < 0 ? 1000000000 : next - now_ns();
        const struct timespec most = {.tv_sec = wait > 0 ? wait / 1000000000 : 0,
                                      .tv_nsec = wait > 0 ? wait % 1000000000 : 0};
        if (ppoll(fds, (nfds_t)count, &most, NULL) < 0 && errno != EINTR)
            fail("waiting for", "packets");
        for (int i = 0; i < count; i++)
            for (int many = 0; many < 16 && fds[i].revents & POLLIN && take(i); many++)
                ;
    }
}

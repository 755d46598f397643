"""Stands between a compositor and its clients, and shows them ext-data-control in place of the
older interface, which has the same messages: `relay.py COMPOSITOR SOCKET`. Node passes no
descriptors, and so could not."""

import array
import socket
import struct
import sys
import threading

OLD, NEW = b"zwlr_data_control_manager_v1", b"ext_data_control_manager_v1"

# The object that is there from the beginning, its request, and those of a registry.
DISPLAY, GET_REGISTRY, GLOBAL, BIND = 1, 1, 0, 0

MAX_DESCRIPTORS = 28


def string(name):
    return struct.pack("=I", len(name) + 1) + name + bytes(4 - len(name) % 4)


def rename(message, before, after, version):
    """The interface of a registry's message, and the version behind it."""
    head, _, tail = message.partition(string(before))
    if not tail:
        return message
    words = head[8:] + string(after) + struct.pack("=I", version) + tail[4:]
    target, sort = struct.unpack("=IHxx", head[:8])
    return struct.pack("=IHH", target, sort, 8 + len(words)) + words


def pump(source, target, change):
    """Hands on what one side says, until it ends."""
    said, descriptors = b"", []
    try:
        while True:
            room = socket.CMSG_SPACE(4 * MAX_DESCRIPTORS)
            chunk, controls, _, _ = source.recvmsg(65536, room)
            if not chunk:
                break
            for _, _, data in controls:
                descriptors.append(array.array("i", data))
            said, out = said + chunk, b""
            while len(said) >= 8 and len(said) >= struct.unpack("=6xH", said[:8])[0]:
                size = struct.unpack("=6xH", said[:8])[0]
                out, said = out + change(said[:size]), said[size:]
            if not out:
                continue
            rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, each) for each in descriptors]
            sent = target.sendmsg([out], rights)
            target.sendall(out[sent:])
            for each in descriptors:
                for descriptor in each:
                    socket.close(descriptor)
            descriptors = []
    except OSError:
        pass  # The other side has ended.
    for side in (source, target):
        try:
            side.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass  # It has ended already.


def serve(client, path):
    server = socket.socket(socket.AF_UNIX)
    server.connect(path)
    registries = set()

    def request(message):
        target, sort = struct.unpack("=IHxx", message[:8])
        if (target, sort) == (DISPLAY, GET_REGISTRY):
            registries.add(struct.unpack("=I", message[8:12])[0])
        isBinding = target in registries and sort == BIND
        return rename(message, NEW, OLD, 2) if isBinding else message

    def event(message):
        target, sort = struct.unpack("=IHxx", message[:8])
        isGlobal = target in registries and sort == GLOBAL
        return rename(message, OLD, NEW, 1) if isGlobal else message

    for way in ((client, server, request), (server, client, event)):
        threading.Thread(target=pump, args=way, daemon=True).start()


compositor, place = sys.argv[1:]
listener = socket.socket(socket.AF_UNIX)
listener.bind(place)
listener.listen()
print("ready", flush=True)
while True:
    serve(listener.accept()[0], compositor)

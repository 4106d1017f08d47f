package io.keelson.server.base.outbound;

import java.net.Inet4Address;
import java.net.InetAddress;

/**
 * Which addresses belong to the public Internet, after the IANA special-purpose registries. Everything else is refused:
 * loopback, private, shared, link-local (cloud metadata), documentation, benchmarking, multicast, reserved, and IPv6
 * forms that carry another address inside.
 */
final class PublicAddresses {

    /** Network and prefix length, IPv4. */
    private static final int[][] SPECIAL_4 = {
            {0x00000000, 8}, {0x0A000000, 8}, {0x64400000, 10}, {0x7F000000, 8}, {0xA9FE0000, 16}, {0xAC100000, 12},
            {0xC0000000, 24}, {0xC0000200, 24}, {0xC0586300, 24}, {0xC0A80000, 16}, {0xC6120000, 15}, {0xC6336400, 24},
            {0xCB007100, 24}, {0xE0000000, 4}, {0xF0000000, 4}};

    private PublicAddresses() {}

    static boolean contains(InetAddress address) {
        byte[] bytes = address.getAddress();
        return address instanceof Inet4Address ? isPublic4(word(bytes, 0)) : isPublic6(bytes);
    }

    private static boolean isPublic4(int address) {
        for (int[] range : SPECIAL_4) {
            if ((address ^ range[0]) >>> (32 - range[1]) == 0) {
                return false;
            }
        }
        return true;
    }

    private static boolean isPublic6(byte[] bytes) {
        int first = word(bytes, 0);
        boolean translated = first == 0x0064FF9B && word(bytes, 4) == 0 && word(bytes, 8) == 0;
        if (translated) {
            return isPublic4(word(bytes, 12));
        }
        boolean unicast = first >>> 29 == 1;
        boolean protocols = first >>> 9 == 0x20010000 >>> 9;
        boolean documentation = first == 0x20010DB8 || first >>> 12 == 0x3FFF0000 >>> 12;
        boolean sixToFour = first >>> 16 == 0x2002;
        return unicast && !protocols && !documentation && !sixToFour;
    }

    private static int word(byte[] bytes, int at) {
        return (bytes[at] & 0xFF) << 24 | (bytes[at + 1] & 0xFF) << 16 | (bytes[at + 2] & 0xFF) << 8
                | bytes[at + 3] & 0xFF;
    }
}

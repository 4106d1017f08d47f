package io.keelson.server.mission.plan;

/** JSON pointers (RFC 6901) and names as problems show them. */
final class Pointers {
    private static final int SHOWN = 80;

    private Pointers() {}

    /** The pointer of a member or item. */
    static String of(String parent, String name) {
        return parent + "/" + name.replace("~", "~0").replace("/", "~1");
    }

    static String of(String parent, int index) {
        return parent + "/" + index;
    }

    /** A name or value cut to what fits into a message. */
    static String shown(String text) {
        return text.length() <= SHOWN ? text : text.substring(0, SHOWN) + "… (" + text.length() + " characters)";
    }
}

package io.keelson.server.annex.mcp.wire;

import java.util.List;

/** Names of the protocol that client and server share. */
public final class Mcp {

    /** The newest revision: stateless, with {@code server/discover}. */
    public static final String MODERN = "2026-07-28";
    /** The newest revision with a handshake. */
    public static final String LEGACY = "2025-11-25";
    /** Revisions with a handshake, the newest first. */
    public static final List<String> HANDSHAKE = List.of(LEGACY, "2025-06-18", "2025-03-26");
    /** The extension of tasks. */
    public static final String TASKS = "io.modelcontextprotocol/tasks";

    public static final String META_VERSION = "io.modelcontextprotocol/protocolVersion";
    public static final String META_CLIENT = "io.modelcontextprotocol/clientInfo";
    public static final String META_CAPABILITIES = "io.modelcontextprotocol/clientCapabilities";
    public static final String META_SERVER = "io.modelcontextprotocol/serverInfo";
    /** The key under which a repeated call changes nothing more. */
    public static final String META_EFFECT_KEY = "io.keelson/effectKey";

    /** Header that repeats the version of a request. */
    public static final String VERSION_HEADER = "MCP-Protocol-Version";
    public static final String METHOD_HEADER = "Mcp-Method";
    public static final String NAME_HEADER = "Mcp-Name";
    public static final String SESSION_HEADER = "Mcp-Session-Id";

    public static final int PARSE_ERROR = -32700;
    public static final int INVALID_REQUEST = -32600;
    public static final int METHOD_NOT_FOUND = -32601;
    public static final int INVALID_PARAMS = -32602;
    public static final int INTERNAL_ERROR = -32603;
    public static final int HEADER_MISMATCH = -32020;
    public static final int CAPABILITY_MISSING = -32021;
    public static final int VERSION_UNSUPPORTED = -32022;

    private Mcp() {}

    /** True for errors that only servers of {@link #MODERN} and later give. */
    public static boolean modernError(int code) {
        return code == HEADER_MISMATCH || code == CAPABILITY_MISSING || code == VERSION_UNSUPPORTED;
    }
}

package io.keelson.server.base.expr;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.NullNode;

/**
 * The way from the input of {@code path(f)} to a value.
 *
 * @param parent null at the input itself
 * @param key a name, an index or a slice; not read if {@code parent} is null
 * @param broken whether the value does not come from the input, so that values below it have no path
 */
record JqPath(@Nullable JqPath parent, JsonNode key, boolean broken) {

    static final JqPath ROOT = new JqPath(null, NullNode.instance, false);
    private static final JqPath NOWHERE = new JqPath(null, NullNode.instance, true);

    /** The path of a value that is made by the program: null where no paths are followed. */
    static @Nullable JqPath made(@Nullable JqPath of) {
        return of == null ? null : NOWHERE;
    }

    /** The path below that one; null where no paths are followed. */
    static @Nullable JqPath below(@Nullable JqPath parent, JsonNode key) {
        return parent == null ? null : new JqPath(parent, key, false);
    }

    /** The keys from the input. */
    static List<JsonNode> keys(@Nullable JqPath path, JsonNode value) {
        List<JsonNode> keys = new ArrayList<>();
        JqPath at = path;
        while (at != null) {
            if (at.broken) {
                throw JqError.of("Invalid path expression with result " + JqText.shown(value));
            }
            if (at.parent != null) {
                keys.add(at.key);
            }
            at = at.parent;
        }
        return keys.reversed();
    }

    /** Refuses to go below a value that the program made. */
    static void checked(@Nullable JqPath path, String attempt, JsonNode value) {
        if (path != null && path.broken) {
            throw JqError.of("Invalid path expression near attempt to " + attempt + " of " + JqText.shown(value));
        }
    }
}

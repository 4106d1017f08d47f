package io.keelson.server.engine.store.read;

import io.keelson.server.base.expr.ExpressionException;
import io.keelson.server.base.json.Json;
import io.keelson.server.base.json.OutsideJson;
import java.sql.ResultSet;
import java.sql.SQLException;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.exc.StreamConstraintsException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.NullNode;

/** The outputs that one evaluation puts together. Their trees together are bounded like one document from outside. */
final class OutputTrees {
    /** Rows that the driver reads at a time, within a transaction. */
    static final int FETCHED = 16;
    private static final String CODE = "OUTPUT_TOO_LARGE";

    private long bytes;

    /**
     * The tree in the row's column {@code output}; JSON null if absent.
     *
     * @throws ExpressionException {@code OUTPUT_TOO_LARGE} when the trees together exceed the bound
     */
    JsonNode next(ResultSet row) throws SQLException {
        return next(row.getString("output"));
    }

    /**
     * The tree of an output's JSON text; JSON null for null.
     *
     * @throws ExpressionException as above
     */
    JsonNode next(@Nullable String text) {
        if (text == null) {
            return NullNode.getInstance();
        }
        JsonNode tree = Json.read(text);
        try {
            bytes = OutsideJson.added(tree, bytes);
        } catch (StreamConstraintsException e) {
            throw new ExpressionException(CODE,
                    "the outputs that it puts together have too many values for the server's memory: let each"
                            + " task yield less, or write artifacts");
        }
        return tree;
    }
}

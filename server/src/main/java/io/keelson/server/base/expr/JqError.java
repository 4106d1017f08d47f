package io.keelson.server.base.expr;

import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.StringNode;

/** An error of a program, which {@code try} catches. */
final class JqError extends RuntimeException {

    private static final long serialVersionUID = 1L;

    private final transient JsonNode value;

    JqError(JsonNode value) {
        super(null, null, false, false);
        this.value = value;
    }

    static JqError of(String message) {
        return new JqError(StringNode.valueOf(message));
    }

    /** The input of {@code catch}. */
    JsonNode value() {
        return value;
    }

    @Override
    public String getMessage() {
        return value.isString() ? value.stringValue()
                : JqValue.type(value) + " (" + JqText.shown(value) + ") is no text of an error";
    }

    /** Leaves the nodes between a {@code break} or a passed error and the node that it belongs to. */
    static final class Exit extends RuntimeException {
        private static final long serialVersionUID = 1L;

        private final transient Object owner;
        private final transient JqError error;

        /** @param error not read for a break */
        Exit(Object owner, JqError error) {
            super(null, null, false, false);
            this.owner = owner;
            this.error = error;
        }

        boolean isOf(Object node) {
            return owner == node;
        }

        JqError error() {
            return error;
        }
    }
}

package io.keelson.server.annex.effect;

import java.util.List;
import org.jspecify.annotations.Nullable;

/** The built-in command types. */
final class CommandTypes {

    public static final String DEPLOYMENT_CREATE = "deployment.create";
    public static final String DEPLOYMENT_STOP = "deployment.stop";
    public static final String ORDER_PLACE = "order.place";
    public static final String ORDER_CANCEL = "order.cancel";

    /** All of them. */
    public static final List<String> BUILT_IN = List.of(DEPLOYMENT_CREATE, DEPLOYMENT_STOP, ORDER_PLACE, ORDER_CANCEL);

    private CommandTypes() {}

    /** The kind that a command of this type acts on; null if it acts on no existing resource. */
    static @Nullable ResourceKind target(String type) {
        return switch (type) {
            case DEPLOYMENT_STOP -> ResourceKind.DEPLOYMENT;
            case ORDER_CANCEL -> ResourceKind.ORDER;
            default -> null;
        };
    }
}

package io.keelson.client;

import io.keelson.api.tenant.Secret;
import java.util.List;

/** The secrets of a workspace. Every method throws {@link KeelsonException} as {@link Api} says. */
public final class Secrets {

    private final Api api;

    Secrets(Api api) {
        this.api = api;
    }

    /** All of them, in order of their names. */
    public List<Secret> list() {
        return Page.of(api.get("/secrets"), Secret.class).items();
    }

    /**
     * Creates or replaces a secret. Steps that start from now on get the value.
     *
     * @param name letters, digits, {@code .}, {@code _} and {@code -}
     * @param value 4 to 65,536 characters
     */
    public Secret set(String name, String value) {
        Call call = Call.of("PUT", RequestPath.of("/secrets/", name), Json.object().put("value", value)).repeatable();
        return Json.document(api.send(call).body(), Secret.class);
    }

    /** @throws KeelsonException {@code SECRET_NOT_FOUND} if the name is unknown */
    public void remove(String name) {
        api.send(Call.of("DELETE", RequestPath.of("/secrets/", name), null));
    }
}

package io.keelson.server.annex.model.wire;

import java.util.HashSet;
import java.util.Set;

/** Gives each call of an answer an id of its own: some providers leave it out, or give several calls the same. */
final class CallIds {
    private final Set<String> used = new HashSet<>();

    /** The id, or another one where it is blank or belongs to a call before. */
    String of(String given) {
        String wanted = given.isBlank() ? "call_" + used.size() : given;
        String id = wanted;
        for (int k = 1; !used.add(id); k++) {
            id = wanted + "_" + k;
        }
        return id;
    }
}

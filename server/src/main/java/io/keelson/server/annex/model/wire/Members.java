package io.keelson.server.annex.model.wire;

import io.keelson.server.base.json.Excerpt;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** The members of an object of a program's request. The neutral form has no place for a member that is not read. */
final class Members {
    private final JsonNode object;
    private final String place;
    private final Set<String> known = new HashSet<>();

    /** @param place of the object in the request, as {@code tools.}; empty for the request itself */
    Members(JsonNode object, String place) {
        this.object = object;
        this.place = place;
    }

    /** A member that is read; missing if absent. */
    JsonNode take(String name) {
        known.add(name);
        return object.path(name);
    }

    String text(String name) {
        return take(name).asString("");
    }

    /** Members that change nothing in the answer. */
    Members ignore(String... names) {
        known.addAll(List.of(names));
        return this;
    }

    /** Refuses a member unless its value changes nothing. */
    Members only(String name, String... values) throws UnfitException {
        JsonNode value = take(name);
        if (isGiven(value) && !(value.isValueNode() && List.of(values).contains(value.asString("")))) {
            throw new UnfitException("'" + place + name + "' with " + Excerpt.piece(value.toString()));
        }
        return this;
    }

    /** Refuses members that were not read. */
    void end() throws UnfitException {
        for (var each : object.properties()) {
            if (!known.contains(each.getKey()) && isGiven(each.getValue())) {
                throw new UnfitException("'" + place + Excerpt.piece(each.getKey()) + "'");
            }
        }
    }

    private static boolean isGiven(JsonNode value) {
        return !value.isMissingNode() && !value.isNull() && !(value.isContainer() && value.isEmpty());
    }

    /**
     * The text of a content: a text, or a list of parts with texts.
     *
     * @param types that the parts may have
     */
    static String text(@Nullable JsonNode content, String place, Set<String> types) throws UnfitException {
        if (content == null || content.isNull() || content.isMissingNode()) {
            return "";
        }
        if (content.isString()) {
            return content.stringValue();
        }
        StringBuilder text = new StringBuilder();
        for (JsonNode part : content) {
            String type = part.path("type").asString("");
            if (!types.contains(type)) {
                throw new UnfitException("a part of the type '" + Excerpt.piece(type) + "' in " + place);
            }
            text.append(text.isEmpty() ? "" : "\n").append(part.path("text").asString(""));
        }
        return text.toString();
    }
}

package io.keelson.server.api.http.runs;

import io.keelson.server.api.http.support.Query;
import io.keelson.server.base.json.Excerpt;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/** The members of rows that the parameter {@code fields} names, separated by commas; all where it is absent. */
final class Fields {

    private static final String NAME = "fields";
    private static final String ID = "id";

    private final Set<String> names;

    private Fields(Set<String> names) {
        this.names = names;
    }

    static Fields of(Query query) {
        @Nullable String text = query.text(NAME);
        return new Fields(text == null ? Set.of() : Set.copyOf(List.of(text.split(","))));
    }

    /** Whether any of these members may be wanted. */
    boolean want(String... members) {
        return names.isEmpty() || Set.of(members).stream().anyMatch(names::contains);
    }

    /** Removes all other members but the id. */
    ObjectNode keep(ObjectNode row) {
        if (!names.isEmpty()) {
            List<String> members = row.propertyStream().map(Map.Entry::getKey).toList();
            names.stream().filter(name -> !members.contains(name)).findFirst().ifPresent(name -> {
                throw Query.invalid(NAME, "names '" + Excerpt.piece(name) + "', which is no member of these rows")
                        .allowing(members.stream().sorted().toList());
            });
            row.retain(members.stream().filter(name -> name.equals(ID) || names.contains(name)).toList());
        }
        return row;
    }
}

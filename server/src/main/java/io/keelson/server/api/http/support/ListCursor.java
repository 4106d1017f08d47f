package io.keelson.server.api.http.support;

import io.keelson.server.base.json.SafeText;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** The position of the next page of a list, as opaque text bound to that list. */
public final class ListCursor {

    private final String list;

    /** @param list the list's name, so that the cursor of one is not taken for another's */
    public ListCursor(String list) {
        this.list = list;
    }

    public String write(String position) {
        byte[] bytes = (list + ":" + position).getBytes(StandardCharsets.UTF_8);
        return Base64.getUrlEncoder().withoutPadding().encodeToString(bytes);
    }

    /**
     * The position in the query's {@code cursor}; null where there is none.
     *
     * @param read parses the position; any exception means an invalid cursor
     */
    public <T> @Nullable T read(Query query, Function<String, T> read) {
        return read(query.text("cursor"), read);
    }

    /** Reads a cursor from another part of the request; null if absent. */
    public <T> @Nullable T read(@Nullable String text, Function<String, T> read) {
        if (text == null) {
            return null;
        }
        try {
            String plain = new String(Base64.getUrlDecoder().decode(text), StandardCharsets.UTF_8);
            if (plain.startsWith(list + ":") && SafeText.clean(plain).equals(plain)) {
                return read.apply(plain.substring(list.length() + 1));
            }
        } catch (RuntimeException e) {
            // refused below, as the cursor of another list
        }
        throw invalid();
    }

    public static ApiProblem invalid() {
        return ApiProblem.of(ErrorCode.INVALID_CURSOR,
                "the cursor is not from this list; omit it to start at the first page");
    }
}

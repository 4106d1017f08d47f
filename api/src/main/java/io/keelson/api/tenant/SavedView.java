package io.keelson.api.tenant;

import io.keelson.api.Shape.Default;
import io.keelson.api.Shape.Request;
import io.keelson.api.Shape.Text;
import java.time.Instant;

/**
 * Filters of a page of the dashboard, saved under a name.
 *
 * @param name name, unique for its owner
 * @param page page of the dashboard
 * @param query filters and order as a query string
 * @param shared whether all of the workspace see it
 * @param savedBy the principal that saved it last
 * @param savedAt time of its last change
 */
public record SavedView(String name, String page, String query, boolean shared, String savedBy, Instant savedAt) {

    /**
     * Saves a view.
     *
     * @param page the page of the dashboard, such as {@code runs}
     * @param query of the page's address, without the question mark
     * @param shared whether all of the workspace see it
     */
    @Request
    public record New(@Text(pattern = "^[a-z-]{1,40}$") String page, @Text(max = 4000) String query,
            @Default("false") boolean shared) {}
}

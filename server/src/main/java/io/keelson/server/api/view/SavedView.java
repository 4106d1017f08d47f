package io.keelson.server.api.view;

import java.time.Instant;

/**
 * A list with its filter, order and columns, under a name.
 *
 * @param page the page that it is a view of, such as {@code runs}
 * @param query of the page's address, without the question mark
 * @param shared whether all of the workspace see it
 * @param savedBy the principal that saved it last
 */
public record SavedView(String name, String page, String query, boolean shared, String savedBy,
        Instant savedAt) {}

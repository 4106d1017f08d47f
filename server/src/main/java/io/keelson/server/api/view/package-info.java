/** Views of the dashboard's lists that people have saved. */
@NullMarked
package io.keelson.server.api.view;

import org.jspecify.annotations.NullMarked;

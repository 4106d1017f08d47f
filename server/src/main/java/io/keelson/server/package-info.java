/**
 * The wiring of a server: {@code Server} creates the parts in order by their constructors and closes them in reverse;
 * {@code Settings} has the configuration. Classes here join packages that may not know each other.
 */
@NullMarked
package io.keelson.server;

import org.jspecify.annotations.NullMarked;

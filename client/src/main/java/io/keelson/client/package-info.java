/** The client of a Keelson server: {@link io.keelson.client.Keelson} is the entry. */
@NullMarked
package io.keelson.client;

import org.jspecify.annotations.NullMarked;

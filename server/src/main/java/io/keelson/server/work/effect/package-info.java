/**
 * Commands that change external systems: stored first, then sent to a provider adapter, at most once per key. Also
 * offered as tools.
 */
@NullMarked
package io.keelson.server.work.effect;

import org.jspecify.annotations.NullMarked;

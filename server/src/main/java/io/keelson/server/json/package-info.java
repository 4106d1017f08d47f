/** JSON helpers for all packages. */
@NullMarked
package io.keelson.server.json;

import org.jspecify.annotations.NullMarked;

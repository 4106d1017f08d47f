/** JSON helpers for all packages. */
@NullMarked
package io.keelson.server.base.json;

import org.jspecify.annotations.NullMarked;

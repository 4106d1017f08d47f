/** JSON helpers every room may use. */
@NullMarked
package io.keelson.server.json;

import org.jspecify.annotations.NullMarked;

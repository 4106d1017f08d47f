/** Tools: what a step can call, their contract, the catalogue and the built-in ones. */
@NullMarked
package io.keelson.server.tool;

import org.jspecify.annotations.NullMarked;

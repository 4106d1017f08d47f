/** Tools that a step can call: their contract, the catalogue and the built-in tools. */
@NullMarked
package io.keelson.server.engine.tool;

import org.jspecify.annotations.NullMarked;

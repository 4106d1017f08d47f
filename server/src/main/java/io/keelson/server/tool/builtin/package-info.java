/** The tools every server has, each safe by default. */
@NullMarked
package io.keelson.server.tool.builtin;

import org.jspecify.annotations.NullMarked;

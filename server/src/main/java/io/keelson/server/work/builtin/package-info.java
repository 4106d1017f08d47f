/** The tools every server has, each safe by default. */
@NullMarked
package io.keelson.server.work.builtin;

import org.jspecify.annotations.NullMarked;

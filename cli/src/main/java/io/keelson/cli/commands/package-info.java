/** Commands of effects in external systems and of webhooks. */
@NullMarked
package io.keelson.cli.commands;

import org.jspecify.annotations.NullMarked;

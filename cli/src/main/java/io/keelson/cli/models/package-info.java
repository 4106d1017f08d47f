/** Commands for the models that a server calls. */
@NullMarked
package io.keelson.cli.models;

import org.jspecify.annotations.NullMarked;

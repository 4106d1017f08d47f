/** Commands for writing missions: init, validate, tools, lifecycles. */
@NullMarked
package io.keelson.cli.authoring;

import org.jspecify.annotations.NullMarked;

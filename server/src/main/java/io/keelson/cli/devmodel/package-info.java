/**
 * The command {@code dev-model}: a model server that answers by a script, in the shapes of three providers' APIs. No other
 * package uses it, so its classes are loaded by this command only.
 */
@NullMarked
package io.keelson.cli.devmodel;

import org.jspecify.annotations.NullMarked;

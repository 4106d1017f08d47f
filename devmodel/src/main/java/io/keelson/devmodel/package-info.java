/**
 * A model server that answers by a script, in the shapes of three providers' APIs. {@code keelson dev-model} starts it, and
 * tests use it as the provider.
 */
@NullMarked
package io.keelson.devmodel;

import org.jspecify.annotations.NullMarked;

/** Agents and recipes. */
@NullMarked
package io.keelson.api.definition;

import org.jspecify.annotations.NullMarked;

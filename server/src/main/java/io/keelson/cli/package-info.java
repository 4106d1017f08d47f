@NullMarked
package io.keelson.cli;

import org.jspecify.annotations.NullMarked;

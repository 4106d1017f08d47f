@NullMarked
package io.keelson.core;

import org.jspecify.annotations.NullMarked;

@NullMarked
package io.keelson.core.lifecycle;

import org.jspecify.annotations.NullMarked;

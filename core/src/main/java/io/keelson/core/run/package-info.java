@NullMarked
package io.keelson.core.run;

import org.jspecify.annotations.NullMarked;

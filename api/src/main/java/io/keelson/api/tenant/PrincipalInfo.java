package io.keelson.api.tenant;

import io.keelson.api.Shape.OneOf;

/**
 * A person or service of a workspace.
 *
 * @param name name, unique in the workspace
 * @param kind kind of the principal
 * @param active whether it has an API key that has not ended
 */
public record PrincipalInfo(String name, @OneOf({"person", "service"}) String kind, boolean active) {}

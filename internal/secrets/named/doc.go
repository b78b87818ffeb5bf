// Package named holds the secrets of the person that agents use by name: {{secret:NAME}}. Each is bound to one app or web
// origin. Its value is sealed in a file, or read from the person's password manager at the moment of use. A secret may
// also be the seed of one-time codes. The package knows names, places and values; the gateway and the engine of the
// windows fill them in.
package named

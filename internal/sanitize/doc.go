// Package sanitize makes third-party text and secrets safe to show, store and repeat. It removes
// invisible characters and markup, recognizes names of secrets, and replaces secret values. A
// [Redactor] removes secrets from texts in all usual encodings. [EstimateTokens] returns the
// approximate number of tokens of a text, without the vocabulary of a model. The package imports
// no other package of this module and does no I/O.
package sanitize

package desktop

import "context"

// Documents reports the addresses (URLs) of the documents that an app shows.
type Documents interface {
	// Addresses returns the address of each of the documents, in their order, as the app reports it: "" for a document
	// without a known address.
	Addresses(ctx context.Context, app App, documents []ID) ([]string, error)
}

package desktop

import "context"

// Documents reports the addresses of documents.
type Documents interface {
	// Addresses returns the address of each of the documents, as the app reports it: "" for a document
	// without a known address.
	Addresses(ctx context.Context, app App, documents []ID) ([]string, error)
}

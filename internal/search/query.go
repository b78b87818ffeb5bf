package search

// A query is what is looked for: words of which any will do, in parts of different weight.
type query []words

// words are a part of a query.
type words struct {
	any    []string
	weight float64
}

// queryOf makes a query of a request.
func queryOf(request string) query {
	return query{{any: asked(request), weight: 1}}
}

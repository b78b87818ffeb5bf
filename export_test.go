package aai

// LanesKnown is how many lanes are remembered.
func LanesKnown(g *Gateway) int {
	g.lanes.mu.Lock()
	defer g.lanes.mu.Unlock()
	return len(g.lanes.known)
}

package aai

// QueueCount is how many lanes are remembered.
func QueueCount(g *Gateway) int {
	g.queues.mu.Lock()
	defer g.queues.mu.Unlock()
	return len(g.queues.byKey)
}

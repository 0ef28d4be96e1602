package main

type baseline struct{}

func newBaseline([]text) *baseline       { return nil }
func (*baseline) files(string) answer    { return answer{} }
func (*baseline) symbols(string) answer  { return answer{} }
func (*baseline) keywords(string) answer { return answer{} }

"""Knowledge: what follows from the answers by physics (`sizing`) and by judgement (`guidance`), and the design that results."""

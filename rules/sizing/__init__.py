"""What follows from physics: parameters, memory, time, plans, fabric, host, storage, power, money, failures."""

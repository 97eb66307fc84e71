"""METRICS, and the functions behind them."""

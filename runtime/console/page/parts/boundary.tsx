import { Component, type ReactNode } from 'react'

interface BoundaryState {
  readonly failed: boolean
}

/** Keeps the rest of the page when a panel cannot be drawn. React takes such a thing as a class only. */
export class Boundary extends Component<{ readonly children: ReactNode }, BoundaryState> {
  override state: BoundaryState = { failed: false }

  static getDerivedStateFromError(): BoundaryState {
    return { failed: true }
  }

  override render(): ReactNode {
    if (!this.state.failed) return this.props.children
    return (
      <p className="notice bad" role="alert">
        This panel cannot be shown; the console of the browser says why.
      </p>
    )
  }
}
